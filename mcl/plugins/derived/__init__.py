"""What is here already becomes something to ask for: approved tools of other servers, operations of web
services, declared commands and the targets of build files, each as a derived skill."""
