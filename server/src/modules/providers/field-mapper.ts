import type { ParameterValue } from '@bakehouse/contract/generators/parameters/parameters';

/** A field of a generator's form as a service's parameters; what is empty is left out. */
export type FieldMapper = (value: ParameterValue) => Record<string, unknown>;

/** As it is, under the service's name for it. */
export function as(name: string): FieldMapper {
  return (value) => (value === null || value === '' ? {} : { [name]: value });
}

/** One of a few, each by what the service calls it. */
export function oneOf(name: string, values: Record<string, unknown>): FieldMapper {
  return (value) => ({ [name]: values[String(value)] });
}
