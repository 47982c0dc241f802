"""What the code says: definitions and classified occurrences of names, by tree-sitter, or by words where there is none.

languages   which language a file is in
rules*      how the tree of each grammar is read, as data
source, syntax    the text of a file; parsing it, and the chain of nodes from the root to a place
classify    the kind and the scope of a place, from its chain and the rules
words       the kind of a place from its line alone, where nothing was parsed
occurrences, outline, calls, imports    facts of one file: pure functions of its path and bytes
headers, headings, notebook    parts of these: signatures and documentation, documents, Jupyter notebooks
qualified   names with a qualifier (`Session.send`)
near        names that resemble one that was not found
tasks, workers, worker    the same functions over many files, in other processes where that pays
json_store, facts_cache    their results, kept between questions
links, repo_graph    who imports and uses whom
index       `CodeIndex`: all of it over a workspace
"""
