import type { ParameterValue } from '@bakehouse/contract/generators/parameters/parameters';
import type { ServiceName } from './services/services.ts';

/** Converts the value of a form field to parameters of a service. Empty values are omitted. */
type FieldMapper = (value: ParameterValue) => Record<string, unknown>;

/** Passes the value unchanged under the service's name. */
export function as(name: string): FieldMapper {
  return (value) => (value === null || value === '' ? {} : { [name]: value });
}

/** Maps each choice to the service's value. */
export function oneOf(name: string, values: Record<string, unknown>): FieldMapper {
  return (value) => ({ [name]: values[String(value)] });
}

/** Converts a choice to a number. */
export function asNumber(name: string): FieldMapper {
  return (value) => ({ [name]: Number(value) });
}

/** Options of the videos API that no form has. */
export type VideoOptions = {
  enhance_prompt?: boolean | undefined;
  person_generation?: 'allow' | 'allow_all' | 'allow_adult' | 'dont_allow' | undefined;
};

/** A generator's model at a service. */
export type UpstreamModel = {
  service: ServiceName;
  /** Model name at the service. */
  model: string;
  /** Name of the model for requests with a picture, if it differs. */
  pictureModel?: string;
  /** How to convert each supported form field. The form hides fields without an entry. */
  fields: Readonly<Record<string, FieldMapper>>;
  /** How to send the input picture: a `data:` URL, or the address of an upload at the service. */
  picture?: (address: string) => Record<string, unknown>;
  /** Maps the options. `hasPicture` is true if the video starts from a picture. */
  wishes?: (wishes: VideoOptions, hasPicture: boolean) => Record<string, unknown>;
  /** Fixed parameters. */
  always?: Readonly<Record<string, unknown>>;
  /**
   * Returns why the service would refuse this combination of individually valid fields; null if it would not.
   */
  problem?: (
    parameters: Readonly<Record<string, ParameterValue>>,
  ) => { field: string; message: string } | null;
};
