// Package deploy holds what runs a gateway in production, and tests that load every file of it.
package deploy
