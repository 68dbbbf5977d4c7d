// The Kubernetes provider of Pulumi, as its own program in cmd/pulumi-resource-kubernetes starts it.
//
// Upstream generates the Go files with the schema and the mapping before each build, so that its module lacks them. The
// two JSON files are in the module; the build lays them over this folder (go build -overlay).
package main

import (
	_ "embed"

	"github.com/pulumi/pulumi-kubernetes/provider/v4/pkg/provider"
	"github.com/pulumi/pulumi-kubernetes/provider/v4/pkg/version"
)

//go:embed schema.json
var schema []byte

//go:embed terraform-mapping.json
var mapping []byte

func main() {
	provider.Serve("kubernetes", version.Version, schema, mapping)
}
