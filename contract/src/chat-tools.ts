import * as z from 'zod';

/** Functions that a model may call, in OpenAI's format. Their schemas are limited in modules/chat/body. */
export const TOOLS_MAX = 128;
const CALLS_MAX = 50;

const NO_FUNCTIONS = 'is OpenAI\'s older form. Send \'tools\', each as {"type": "function", "function": {…}}';
const older = (name: string) => z.array(z.unknown()).max(0, `${name} ${NO_FUNCTIONS}`).nullish();

export const functionName = z
  .string()
  .regex(/^[a-zA-Z0-9_-]{1,64}$/, 'must be 1 to 64 letters, digits, underscores and dashes');

const describedTool = {
  name: functionName,
  description: z.string().nullish(),
};
export const functionFields = {
  ...describedTool,
  /** A JSON Schema of an object; without it the function has no parameters. */
  parameters: z.record(z.string(), z.unknown()).nullish(),
  /** True if the model's arguments must match the schema. Rejected if the schema does not permit that. */
  strict: z.boolean().nullish(),
};
/** A tool whose input is text. The model sees the tool's grammar, but it is not enforced. */
export const customFields = { ...describedTool, format: z.looseObject({ type: z.string() }).nullish() };

/** Returns the schema of a tool. It validates by the tool's `type`, so that errors name the invalid field. */
export const toolOf = (schemaOf: (type: unknown) => z.ZodType) =>
  z.looseObject({}).superRefine((tool, check) => {
    const { error } = schemaOf(tool.type).safeParse(tool);
    for (const { path, message } of error?.issues ?? [])
      check.addIssue({ code: 'custom', path: [...path], message });
  });

const functionTool = z.looseObject({ type: z.literal('function'), function: z.looseObject(functionFields) });
const customTool = z.looseObject({ type: z.literal('custom'), custom: z.looseObject(customFields) });
/** A tool that OpenAI runs, such as `web_search`. It is ignored and named in a response header. */
export const builtInTool = z.looseObject({ type: z.string() });
const tool = toolOf(
  (type) => ({ function: functionTool, custom: customTool })[String(type)] ?? builtInTool,
).pipe(z.union([functionTool, customTool, builtInTool]));

export const namedTool = z.discriminatedUnion('type', [
  z.looseObject({ type: z.literal('function'), function: z.looseObject({ name: functionName }) }),
  z.looseObject({ type: z.literal('custom'), custom: z.looseObject({ name: functionName }) }),
]);
/** Limits the model to these tools. */
const allowedTools = z.object({
  type: z.literal('allowed_tools'),
  allowed_tools: z.object({
    mode: z.enum(['auto', 'required']),
    tools: z.array(namedTool).min(1).max(TOOLS_MAX),
  }),
});

/** Tool parameters of a chat. */
export const toolParameters = {
  tools: z.array(tool).max(TOOLS_MAX).nullish(),
  /** Defaults to auto if there are tools. */
  tool_choice: z.union([z.enum(['none', 'auto', 'required']), namedTool, allowedTools]).nullish(),
  /** False permits at most one call. With a required call, the model makes only one unless this is true. */
  parallel_tool_calls: z.boolean().nullish(),
  functions: older('functions'),
  function_call: z.enum(['none', 'auto'], `function_call ${NO_FUNCTIONS}`).nullish(),
};

/** A function call that a model made. In an answer, and in a conversation that continues after it. */
const toolCall = z.looseObject({
  id: z.string().min(1).max(200),
  type: z.literal('function'),
  function: z.looseObject({
    name: functionName,
    /** JSON as written by the model. */
    arguments: z.string(),
  }),
});

/** A call of a tool with text input. */
const customCall = z.looseObject({
  id: z.string().min(1).max(200),
  type: z.literal('custom'),
  custom: z.looseObject({ name: functionName, input: z.string() }),
});
export const anyCall = z.discriminatedUnion('type', [toolCall, customCall]);

/**
 * Tool fields of a message. Answers contain calls; a message with the role `tool` contains the result of one.
 */
export const messageOfTools = {
  tool_calls: z.array(anyCall).max(CALLS_MAX).nullish(),
  tool_call_id: z.string().min(1).max(200).nullish(),
  function_call: z.null(`function_call ${NO_FUNCTIONS}`).optional(),
};
