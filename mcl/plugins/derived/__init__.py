"""What is here already becomes something to ask for: approved tools of other servers, operations of web
services, declared commands and the targets of build files, each as a derived skill.

It reads what a home says of its tools and writes nothing but a cache; the compiler knows of it only that
there are skills beside the written ones. What a stranger says of a tool is data here: cleaned, cut, quoted.
"""
