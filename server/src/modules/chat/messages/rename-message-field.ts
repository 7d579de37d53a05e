import { type FieldName, renameField } from '../body/rename-field.ts';

/** What a message calls otherwise than a chat. */
const names: FieldName[] = [
  [/^response_format\.json_schema\b/, 'output_config.format'],
  [/^tools\.(\d+)\.function\.parameters\b/, 'tools.$1.input_schema'],
  [/^tools\.(\d+)\.function\b/, 'tools.$1'],
  [/^reasoning_effort$/, 'output_config.effort'],
  [/^stop\b/, 'stop_sequences'],
];

/** The same error about the field that was sent; before there are places it is about that already. */
export function renameMessageField(error: unknown, places: string[]): unknown {
  return places.length === 0 ? error : renameField(error, { names, places, rest: 'messages' });
}
