import type { ParameterValue } from '@bakehouse/contract/generators/parameters/parameters';
import type { ServiceName } from './services/services.ts';

/** A field of a generator's form as a service's parameters; what is empty is left out. */
type FieldMapper = (value: ParameterValue) => Record<string, unknown>;

/** As it is, under the service's name for it. */
export function as(name: string): FieldMapper {
  return (value) => (value === null || value === '' ? {} : { [name]: value });
}

/** One of a few, each by what the service calls it. */
export function oneOf(name: string, values: Record<string, unknown>): FieldMapper {
  return (value) => ({ [name]: values[String(value)] });
}

/** A choice of numbers, as a number. */
export function asNumber(name: string): FieldMapper {
  return (value) => ({ [name]: Number(value) });
}

/** What a call of the videos API asks for beside the fields of the form. */
export type VideoWishes = {
  enhance_prompt?: boolean | undefined;
  person_generation?: 'allow' | 'allow_all' | 'allow_adult' | 'dont_allow' | undefined;
};

/** A generator's model at a service. */
export type UpstreamModel = {
  service: ServiceName;
  /** Its name there. */
  model: string;
  /** The one that takes a picture, where that has a name of its own. */
  pictureModel?: string;
  /** How it is told each field of the form that it takes; the others are not asked for. */
  fields: Readonly<Record<string, FieldMapper>>;
  /** How it is told the picture that it edits or begins with, whose address is a `data:` URL, or one of the service's own. */
  picture?: (address: string) => Record<string, unknown>;
  /** How it is told these; `hasPicture`: the video begins with one. */
  wishes?: (wishes: VideoWishes, hasPicture: boolean) => Record<string, unknown>;
  /** What it is always told. */
  always?: Readonly<Record<string, unknown>>;
  /** Why it would refuse these parameters, which fit the form each for itself. */
  problem?: (
    parameters: Readonly<Record<string, ParameterValue>>,
  ) => { field: string; message: string } | null;
};
