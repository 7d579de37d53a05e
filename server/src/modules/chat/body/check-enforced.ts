type Fields = Record<string, unknown>;

const ranges = ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum'];

/** What JSON Schema says of values of one type alone. */
const ofType: Record<string, string[]> = {
  string: ['pattern', 'format', 'minLength', 'maxLength'],
  number: [...ranges, 'multipleOf'],
  integer: [...ranges, 'multipleOf'],
  array: [
    ...['items', 'prefixItems', 'additionalItems', 'unevaluatedItems', 'minItems', 'maxItems'],
    ...['uniqueItems', 'contains', 'minContains', 'maxContains'],
  ],
  object: [
    ...['properties', 'patternProperties', 'additionalProperties', 'unevaluatedProperties', 'required'],
    ...['minProperties', 'maxProperties', 'propertyNames', 'dependencies', 'dependentRequired'],
    'dependentSchemas',
  ],
  boolean: [],
  null: [],
};
const ofAllTypes = [...new Set(Object.values(ofType).flat())];
const ofAny = ['enum', 'const', 'anyOf', 'oneOf', 'allOf', 'not', 'if', 'then', 'else'];
const references = ['$ref', '$dynamicRef', '$recursiveRef'];
/** The formats that llama.cpp has a grammar for. */
const formats = /^(?:uuid[1-5]?|date|time|date-time)$/;

/**
 * What of a schema no model server enforces, in a sentence that begins with its path; null where all of it is enforced.
 * It follows llama.cpp's order: the first of the keywords that it looks for decides, and what stands beside it is passed over.
 * Words that JSON Schema does not know assert nothing. Pure.
 */
export function checkEnforced(schema: unknown, path: string): string | null {
  if (!isFields(schema)) return null;
  const fault = faultOf(schema);
  if (fault) return `${path}: ${fault}. Leave it out, or leave out 'strict'`;
  for (const [name, inner] of inside(schema)) {
    const deeper = checkEnforced(inner, `${path}.${name}`);
    if (deeper) return deeper;
  }
  return null;
}

function faultOf(schema: Fields): string | null {
  if (Array.isArray(schema.type) && !['$ref', 'anyOf', 'const', 'enum'].some((name) => name in schema)) {
    for (const type of schema.type) {
      // Each type has its own grammar.
      const fault = faultOf({ ...schema, type });
      if (fault) return fault;
    }
    return null;
  }
  const enforced = enforcedIn(schema);
  const said = [...ofAny, ...references, 'type', ...aboutType(schema.type)];
  const passedOver = said.find((name) => name in schema && !enforced.includes(name));
  if (passedOver === 'oneOf') return "'oneOf' is not enforced: write 'anyOf'";
  if (passedOver) return `'${passedOver}' is not enforced here`;
  return faultOfValue(schema);
}

/** What asserts something of a value of the type. */
function aboutType(type: unknown): string[] {
  return (typeof type === 'string' ? ofType[type] : undefined) ?? ofAllTypes;
}

/** Which keywords are enforced together. */
function enforcedIn(schema: Fields): string[] {
  const may = (type: string) => schema.type === undefined || schema.type === type;
  const has = (name: string) => name in schema;
  if (has('$ref')) return ['$ref'];
  if (has('anyOf')) return ['anyOf'];
  if (has('const')) return ['const', 'type'];
  if (has('enum')) return ['enum', 'type'];
  if (may('object') && (has('properties') || (schema.additionalProperties ?? true) !== true))
    return ['type', 'properties', 'required', 'additionalProperties'];
  if (may('array') && has('items')) return ['type', 'items', 'minItems', 'maxItems'];
  if (may('array') && has('prefixItems')) return ['type', 'prefixItems', 'minItems', 'maxItems'];
  if (may('string') && has('pattern')) return ['type', 'pattern'];
  if (may('string') && typeof schema.format === 'string' && formats.test(schema.format))
    return ['type', 'format'];
  if (schema.type === 'string') return ['type', 'minLength', 'maxLength'];
  if (schema.type === 'integer') return ['type', ...ranges];
  return ['type', 'additionalProperties'];
}

/** What is enforced for some values of a keyword alone. */
function faultOfValue(schema: Fields): string | null {
  const { pattern, properties, required, prefixItems, type } = schema;
  if (typeof pattern === 'string' && 'pattern' in schema && enforcedIn(schema).includes('pattern')) {
    if (!/^\^.*[^\\]\$$/s.test(pattern) || hasBareAlternative(pattern))
      return "a 'pattern' is enforced from ^ to $: anchor it with both";
  }
  if (Array.isArray(required) && isFields(properties)) {
    const missing = required.find((name) => !(String(name) in properties));
    if (missing !== undefined)
      return `'required' names ${JSON.stringify(missing)}, which is not in 'properties'`;
  }
  if (Array.isArray(prefixItems)) {
    const { minItems = 0, maxItems = Number.POSITIVE_INFINITY } = schema as Record<string, number>;
    if (minItems > prefixItems.length || maxItems < prefixItems.length)
      return "'prefixItems' says how many there are: 'minItems' and 'maxItems' contradict it";
  }
  if (type === 'integer') return faultOfRange(schema);
  const values = 'const' in schema ? [schema.const] : schema.enum;
  const types = [type].flat().filter((one) => typeof one === 'string');
  if (
    types.length > 0 &&
    Array.isArray(values) &&
    !values.every((value) => types.some((one) => isOf(one, value)))
  )
    return "'type' and the values do not agree";
  return null;
}

function faultOfRange(schema: Fields): string | null {
  const odd = ranges.find((name) => name in schema && !Number.isSafeInteger(schema[name]));
  if (odd) return `'${odd}' is enforced as a whole number alone`;
  for (const [plain, exclusive] of [
    ['minimum', 'exclusiveMinimum'],
    ['maximum', 'exclusiveMaximum'],
  ] as const) {
    if (plain in schema && exclusive in schema) return `'${exclusive}' is not enforced beside '${plain}'`;
  }
  return null;
}

/** `^a|b$` is `^a` or `b$`, neither of which has both ends. */
function hasBareAlternative(pattern: string): boolean {
  let depth = 0;
  let inClass = false;
  for (let at = 0; at < pattern.length; at += 1) {
    const char = pattern[at];
    if (char === '\\') at += 1;
    else if (inClass) inClass = char !== ']';
    else if (char === '[') inClass = true;
    else if (char === '(') depth += 1;
    else if (char === ')') depth -= 1;
    else if (char === '|' && depth === 0) return true;
  }
  return false;
}

function isOf(type: string, value: unknown): boolean {
  if (type === 'null') return value === null;
  if (type === 'array') return Array.isArray(value);
  if (type === 'object') return isFields(value);
  if (type === 'integer') return Number.isInteger(value);
  return typeof value === type;
}

function inside(schema: Fields): [string, unknown][] {
  const maps = ['properties', '$defs', 'definitions'].flatMap((name) =>
    isFields(schema[name])
      ? Object.entries(schema[name]).map(([key, value]): [string, unknown] => [`${name}.${key}`, value])
      : [],
  );
  const lists = ['anyOf', 'prefixItems'].flatMap((name) =>
    Array.isArray(schema[name])
      ? schema[name].map((value, index): [string, unknown] => [`${name}.${index}`, value])
      : [],
  );
  return [...maps, ...lists, ['items', schema.items], ['additionalProperties', schema.additionalProperties]];
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
