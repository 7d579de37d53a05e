import * as z from 'zod';

/** Fields of other services that set the format of an answer. */
const formats = [
  ...['format', 'grammar', 'guided_choice', 'guided_grammar', 'guided_json', 'guided_regex', 'json_schema'],
  ...['regex', 'response_format', 'structured_outputs'],
];
/** Fields of other services or calls that change what the model reads, or where the answer ends. */
const required = [
  ...['system', 'prompt', 'messages', 'input', 'instructions', 'images', 'documents', 'tools', 'functions'],
  ...['n', 'best_of', 'echo', 'suffix', 'stop', 'stop_sequences', 'max_tokens', 'max_completion_tokens'],
  ...['max_output_tokens', 'max_new_tokens', 'num_predict', 'min_tokens'],
];

/**
 * Returns the body schema of a chat call. Programs written for other services may send unknown fields. Those
 * are ignored and named in a response header, unless ignoring them would change the answer; then the call is
 * rejected. `format` is the name of the field for the answer's format.
 */
export function chatBody<Shape extends z.ZodRawShape>(shape: Shape, format: string) {
  return z
    .object(shape)
    .catchall(z.unknown())
    .superRefine((body, check) => {
      for (const name of ignoredFields(shape, body)) {
        const isFormat = formats.includes(name);
        if (!isFormat && !required.includes(name)) continue;
        const why = isFormat ? `the form of an answer goes into ${format}` : 'this call does not know it';
        check.addIssue({ code: 'custom', path: [name], message: `must be left out: ${why}` });
      }
    });
}

/** Returns the fields of a body that its call ignores. Fields that are null count as not sent. */
export function ignoredFields(shape: object, body: object): string[] {
  return Object.entries(body).flatMap(([name, value]) =>
    value === null || value === undefined || Object.hasOwn(shape, name) ? [] : [name],
  );
}
