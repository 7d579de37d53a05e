import type { ParameterValue } from '@bakehouse/contract/generators/parameters/parameters';

/** How a field of a generator's form is said to a service; what is empty is not said. */
export type SayField = (value: ParameterValue) => Record<string, unknown>;

/** As it is, under the service's name for it. */
export function as(name: string): SayField {
  return (value) => (value === null || value === '' ? {} : { [name]: value });
}

/** One of a few, each by what the service calls it. */
export function oneOf(name: string, values: Record<string, unknown>): SayField {
  return (value) => ({ [name]: values[String(value)] });
}
