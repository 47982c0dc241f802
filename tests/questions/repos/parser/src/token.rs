#[derive(Debug, Clone, PartialEq)]
pub enum TokenKind {
    Word,
    Number,
}

#[derive(Debug, Clone)]
pub struct Token {
    pub kind: TokenKind,
    pub text: String,
}

impl Token {
    pub fn new(kind: TokenKind, text: &str) -> Self {
        Token { kind, text: text.to_string() }
    }
}
