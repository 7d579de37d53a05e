import * as z from 'zod';
import { endpoint } from './endpoint.ts';
import { hubModelId } from './fields/hub-model-id.ts';
import { idOf } from './fields/id.ts';
import { only } from './fields/only.ts';
import { nameText } from './fields/text.ts';
import { fineTunePayload } from './fine-tuning.ts';
import { CONFIGURATION_NAME_LENGTH_MAX } from './limits.ts';

/*
 * Saved parameters of a fine-tune. Accepted nested or flat, in snake_case or camelCase. Stored and returned
 * nested, in snake_case.
 */

type Shape = typeof fineTunePayload.shape;
type Bare<Field> = Field extends z.ZodDefault<infer Inner extends z.ZodType> ? Inner : Field;

const {
  user_id: userIdField,
  ceiling: _ceiling,
  cost_max: _costMax,
  slowdown: _slowdown,
  base_model: _base,
  ...fields
} = fineTunePayload.shape;

/** No defaults, because applying a configuration must not change fields that it omits. */
const bare = Object.fromEntries(
  Object.entries(fields).map(([name, field]) => [
    name,
    field instanceof z.ZodDefault ? field.unwrap() : field,
  ]),
) as { [Name in keyof typeof fields]: Bare<Shape[Name]> };

export const configurationPayload = z
  .object({
    ...bare,
    /** Null if not chosen yet. */
    accelerator_type: bare.accelerator_type.nullable(),
    /** Asset id of the base model; for a hub model its id with dashes instead of slashes. */
    base_model: z.string(),
    hf_model_id: hubModelId,
  })
  .partial();

type Payload = z.output<typeof configurationPayload>;

type Camel<Name extends string> = Name extends `${infer Head}_${infer Rest}`
  ? `${Head}${Capitalize<Camel<Rest>>}`
  : Name;

function camel<Name extends string>(name: Name): Camel<Name> {
  return name.replace(/_([a-z])/g, (_match, letter: string) => letter.toUpperCase()) as Camel<Name>;
}

/** Adds the camelCase aliases and makes all fields optional. */
function withAliases<Fields extends Record<string, z.ZodType>>(shape: Fields) {
  const both = Object.entries(shape).flatMap(([name, field]) => [
    [name, z.optional(field)],
    [camel(name), z.optional(field)],
  ]);
  return Object.fromEntries(both) as {
    [Name in keyof Fields as Name | Camel<Name & string>]: z.ZodOptional<Fields[Name]>;
  };
}

/** The owner is the caller. Accepted because the original payload contains a user id. */
const flat = withAliases({ ...configurationPayload.shape, user_id: userIdField });

const configName = nameText(CONFIGURATION_NAME_LENGTH_MAX);

export const configurationFields = only(flat);
const sentConfiguration = only({
  ...flat,
  ...withAliases({ config_name: configName, fine_tune_payload: configurationFields }),
  /** False if no GPU is chosen. */
  isSelectedGpu: z.boolean().optional(),
}).transform((sent, context) => {
  const { isSelectedGpu, config_name, configName: alias, ...parts } = sent;
  const { fine_tune_payload: nested, fineTunePayload: nestedAlias, ...rest } = parts;
  const name = config_name ?? alias;
  if (name === undefined) {
    context.addIssue({ code: 'custom', path: ['config_name'], message: 'Name is required' });
    return z.NEVER;
  }
  const one = inSnakeCase({ ...rest, ...nestedAlias, ...nested });
  if (isSelectedGpu === false) one.accelerator_type = null;
  if (one.hf_model_id !== undefined) one.base_model = one.hf_model_id.replaceAll('/', '-');
  else if (one.base_model !== undefined && !z.uuid().safeParse(one.base_model).success) {
    context.addIssue({ code: 'custom', path: ['base_model'], message: 'No model has this id' });
  }
  return { config_name: name, fine_tune_payload: one };
});

/** If both spellings of a name are sent, snake_case is used. */
function inSnakeCase(sent: Record<string, unknown>): Payload {
  return Object.fromEntries(
    Object.keys(configurationPayload.shape).flatMap((name) => {
      const value = sent[name] ?? sent[camel(name)];
      return value === undefined ? [] : [[name, value]];
    }),
  );
}

export const savedConfiguration = z.object({
  config_id: z.string(),
  config_name: z.string(),
  fine_tune_payload: configurationPayload,
  isSelectedGpu: z.boolean(),
  hfModelId: z.string().nullable(),
  created_at: z.string(),
});

export type Configuration = z.output<typeof savedConfiguration>;

const configurationParams = z.object({ configId: idOf('configuration') });

export const listConfigurations = endpoint({
  method: 'GET',
  path: '/api/v1/configurations',
  access: 'key',
  summary: 'List saved configurations',
  response: z.object({ configurations: z.array(savedConfiguration) }),
});

export const saveConfiguration = endpoint({
  method: 'POST',
  path: '/api/v1/configurations',
  access: 'key',
  summary: 'Save a configuration; an existing name is replaced',
  body: sentConfiguration,
  response: savedConfiguration,
});

export const renameConfiguration = endpoint({
  method: 'PATCH',
  path: '/api/v1/configurations/:configId',
  access: 'key',
  summary: 'Rename a saved configuration',
  params: configurationParams,
  body: only({ config_name: configName }),
  response: savedConfiguration,
});

export const deleteConfiguration = endpoint({
  method: 'DELETE',
  path: '/api/v1/configurations/:configId',
  access: 'key',
  summary: 'Delete a saved configuration',
  params: configurationParams,
  status: 204,
});
