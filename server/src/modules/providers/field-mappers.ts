import type { ParameterValue } from '@bakehouse/contract/generators/parameters/parameters';
import type { ServiceName } from './services/services.ts';

/** Maps a form field to a service's parameters; empty values are omitted. */
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

/** Options of a videos API call that are not form fields. */
export type VideoWishes = {
  enhance_prompt?: boolean | undefined;
  person_generation?: 'allow' | 'allow_all' | 'allow_adult' | 'dont_allow' | undefined;
};

/** A generator's model at a service. */
export type UpstreamModel = {
  service: ServiceName;
  /** Model name at the service. */
  model: string;
  /** Model name for requests with a picture, if different. */
  pictureModel?: string;
  /** Mappers of the supported form fields; unsupported fields are hidden. */
  fields: Readonly<Record<string, FieldMapper>>;
  /** Maps the input picture, given as a `data:` URL or an address at the service. */
  picture?: (address: string) => Record<string, unknown>;
  /** Maps the options. `hasPicture` is true if the video starts from a picture. */
  wishes?: (wishes: VideoWishes, hasPicture: boolean) => Record<string, unknown>;
  /** Fixed parameters. */
  always?: Readonly<Record<string, unknown>>;
  /** Returns why the service would refuse this combination of valid fields. */
  problem?: (
    parameters: Readonly<Record<string, ParameterValue>>,
  ) => { field: string; message: string } | null;
};
