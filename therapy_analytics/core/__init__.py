"""What every other package may use, and what uses none of them.

`session`, `ids` and `clusters` are what all speak of; `errors`, `registry` and `verbs` how the package behaves;
`identity` and `pseudonyms` guard names; `cells`, `folders`, `private` and `page_frame` write; `printable` and
`third_party` mind what comes from outside.
"""
