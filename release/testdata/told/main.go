// Command told prints its release.
package main

import (
	"fmt"

	"crossgate/release"
)

func main() { fmt.Println(release.Current()) }
