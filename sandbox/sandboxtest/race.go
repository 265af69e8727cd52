//go:build race

package sandboxtest

const underRaceDetector = true
