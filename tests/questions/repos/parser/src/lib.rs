//! Turns text into tokens.

mod token;

use std::collections::HashMap;

use crate::token::{Token, TokenKind};

/// Anything that can be shown.
pub trait Show {
    fn show(&self) -> String;
}

impl Show for Token {
    fn show(&self) -> String {
        format!("{:?}", self.kind)
    }
}

/// Split a text into tokens.
pub fn tokenize(text: &str) -> Vec<Token> {
    text.split_whitespace().map(read_token).collect()
}

fn read_token(word: &str) -> Token {
    Token::new(TokenKind::Word, word)
}

pub fn count_words(text: &str) -> HashMap<String, usize> {
    let mut counts = HashMap::new();
    for token in tokenize(text) {
        *counts.entry(token.text).or_insert(0) += 1;
    }
    counts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn splits() {
        assert_eq!(tokenize("a b").len(), 2);
    }
}
