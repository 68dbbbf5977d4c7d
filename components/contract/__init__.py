"""Resources of the contract: types, validation, defaults, reading."""
