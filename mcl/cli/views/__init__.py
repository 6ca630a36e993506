"""What a person sees: each view turns one typed value into parts that Rich prints."""
