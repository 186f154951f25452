// Health is a value with one owner: `observe` takes the old record and a piece of evidence and gives the new one.
// TO BE WRITTEN
