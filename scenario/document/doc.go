// Package document reads YAML into structs and says where everything stands:
// each problem has a line, a column, the path of its key and the rule that it
// breaks, and all of them are reported at once. It knows nothing of what the
// structs mean.
//
// A field is read from the key in its tag, `key:"name"` or
// `key:"name,required"`; its tag `doc` describes it for the schema. Keys that
// no field has are problems. Besides structs, lists, strings, numbers and
// booleans there are
//
//   - types with a method ParseText, written as a scalar: durations, rates;
//   - structs with a method ParseShort, which may also be written as a scalar;
//   - [Map], whose keys are chosen by the author and keep their order;
//   - lists, of which a single element may stand alone.
//
// A field of type [Place] keeps where its struct stands. An alias is followed,
// what is wrong with its value is told at the alias. Tags are refused unless
// they are those that a value has anyhow, and so are merge keys.
package document
