package stories_test

import (
	"flag"
	"image"
	_ "image/jpeg"
	"math"
	"os"
	"path/filepath"
	"testing"

	"crossgate/internal/must"
)

var updateScreens = flag.Bool("update-screens", false, "write docs/screens anew")

const screens = "../../docs/screens"

// A screen is compared by the light of its fields, so that times, ids and the fonts of another machine do not matter,
// and what is missing, in the wrong place or of the wrong theme does.
const (
	fieldColumns, fieldRows = 16, 12
	largestDifference       = 0.03 // of the light from black to white, as the root of the mean square over all fields
)

// fields is the light of each field of a picture, from 0 to 1.
func fields(picture image.Image) (light [fieldColumns * fieldRows]float64) {
	var pixels [fieldColumns * fieldRows]float64
	b := picture.Bounds()
	for y := b.Min.Y; y < b.Max.Y; y++ {
		for x := b.Min.X; x < b.Max.X; x++ {
			at := (y-b.Min.Y)*fieldRows/b.Dy()*fieldColumns + (x-b.Min.X)*fieldColumns/b.Dx()
			red, green, blue, _ := picture.At(x, y).RGBA()
			light[at] += (0.2126*float64(red) + 0.7152*float64(green) + 0.0722*float64(blue)) / math.MaxUint16
			pixels[at]++
		}
	}
	for i := range light {
		light[i] /= pixels[i]
	}
	return light
}

// difference is how far the fields of two pictures are from each other, the farther ones counting more.
func difference(t *testing.T, one, other string) float64 {
	t.Helper()
	a, b := fields(readPicture(t, one)), fields(readPicture(t, other))
	var sum float64
	for i := range a {
		sum += (a[i] - b[i]) * (a[i] - b[i])
	}
	return math.Sqrt(sum / float64(len(a)))
}

func readPicture(t *testing.T, path string) image.Image {
	t.Helper()
	file := must.Get(os.Open(path))(t)
	defer file.Close()
	picture, _, err := image.Decode(file)
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return picture
}

// compareScreens compares the pictures in a directory with those of docs/screens, or puts them there.
func compareScreens(t *testing.T, taken string) {
	t.Helper()
	pictures, err := filepath.Glob(filepath.Join(taken, "*.jpg"))
	if err != nil || len(pictures) == 0 {
		t.Errorf("pictures of the pages: %v, %v", pictures, err)
	}
	for _, picture := range pictures {
		kept := filepath.Join(screens, filepath.Base(picture))
		if *updateScreens {
			text, err := os.ReadFile(picture)
			if err == nil {
				err = os.WriteFile(kept, text, 0o644)
			}
			if err != nil {
				t.Error(err)
			}
			continue
		}
		if d := difference(t, picture, kept); d > largestDifference {
			t.Errorf("%s looks otherwise than in docs/screens, by %.3f; look at it, and run the test with -args -update-screens if it is meant", filepath.Base(picture), d)
		}
	}
}
