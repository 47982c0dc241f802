"""What the code says: definitions and classified occurrences of names, by tree-sitter, or by words where there is none.

languages   which language a file is in
rules*      how the tree of each grammar is read, as data
syntax      parsing, and the chain of nodes from the root to a place
classify    the kind and the scope of a place, from its chain and the rules
words       the kind of a place from its line alone, where nothing was parsed
occurrences, outline, calls, imports    facts of one file: pure functions of its path and bytes
qualified   names with a qualifier (`Session.send`)
near        names that resemble one that was not found
workers     the same functions in other processes
index       `CodeIndex`: all of it over a workspace
"""
