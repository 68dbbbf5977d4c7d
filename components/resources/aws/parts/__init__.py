"""Resources that the components on AWS register below themselves."""
