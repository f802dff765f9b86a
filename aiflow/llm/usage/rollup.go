package usage

const maxRows = 5000
