import { type FieldName, renameField } from '../body/rename-field.ts';

/** Fields whose names differ between a message and a chat. */
const names: FieldName[] = [
  [/^response_format\.json_schema\b/, 'output_config.format'],
  [/^tools\.(\d+)\.function\.parameters\b/, 'tools.$1.input_schema'],
  [/^tools\.(\d+)\.function\b/, 'tools.$1'],
  [/^reasoning_effort$/, 'output_config.effort'],
  [/^stop\b/, 'stop_sequences'],
];

/** The path of each message and tool of the chat in the body. */
export type Places = { places: string[]; toolPlaces: string[] };

/** Returns the error with the name of the sent field. Errors from before the conversion already have it. */
export function renameMessageField(error: unknown, places: Places | null): unknown {
  return places === null ? error : renameField(error, { names, ...places, rest: 'messages' });
}
