import * as z from 'zod';

/** Functions that a model may call, as OpenAI has them; modules/chat/body bounds their schemas. */
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
  /** A JSON Schema of an object; left out, the function takes nothing. */
  parameters: z.record(z.string(), z.unknown()).nullish(),
  /** The arguments are bound by the schema, or it is refused. */
  strict: z.boolean().nullish(),
};
/** A tool that takes a text. The model is told its grammar, which is not enforced. */
export const customFields = { ...describedTool, format: z.looseObject({ type: z.string() }).nullish() };

/** A tool, checked by the schema that its type has, so that an error names the field. */
export const toolOf = (schemaOf: (type: unknown) => z.ZodType) =>
  z.looseObject({}).superRefine((tool, check) => {
    const { error } = schemaOf(tool.type).safeParse(tool);
    for (const { path, message } of error?.issues ?? [])
      check.addIssue({ code: 'custom', path: [...path], message });
  });

const functionTool = z.looseObject({ type: z.literal('function'), function: z.looseObject(functionFields) });
const customTool = z.looseObject({ type: z.literal('custom'), custom: z.looseObject(customFields) });
/** A tool that OpenAI runs, such as `web_search`. It is ignored, and named in a response header. */
export const builtInTool = z.looseObject({ type: z.string() });
const tool = toolOf(
  (type) => ({ function: functionTool, custom: customTool })[String(type)] ?? builtInTool,
).pipe(z.union([functionTool, customTool, builtInTool]));

const namedTool = z.discriminatedUnion('type', [
  z.looseObject({ type: z.literal('function'), function: z.looseObject({ name: functionName }) }),
  z.looseObject({ type: z.literal('custom'), custom: z.looseObject({ name: functionName }) }),
]);
/** The model is offered these of the tools alone. */
const allowedTools = z.object({
  type: z.literal('allowed_tools'),
  allowed_tools: z.object({
    mode: z.enum(['auto', 'required']),
    tools: z.array(namedTool).min(1).max(TOOLS_MAX),
  }),
});

/** What a chat says of the functions that the model may call. */
export const toolParameters = {
  tools: z.array(tool).max(TOOLS_MAX).nullish(),
  /** Left out: the model chooses where there are tools. */
  tool_choice: z.union([z.enum(['none', 'auto', 'required']), namedTool, allowedTools]).nullish(),
  /** False: one call at most. A call that is required is one, unless this is true. */
  parallel_tool_calls: z.boolean().nullish(),
  functions: older('functions'),
  function_call: z.enum(['none', 'auto'], `function_call ${NO_FUNCTIONS}`).nullish(),
};

/** A call that a model made, in an answer and in the conversation that goes on from it. */
const toolCall = z.looseObject({
  id: z.string().min(1).max(200),
  type: z.literal('function'),
  function: z.looseObject({
    name: functionName,
    /** JSON, as the model wrote it. */
    arguments: z.string(),
  }),
});

/** A call of a tool that takes a text. */
const customCall = z.looseObject({
  id: z.string().min(1).max(200),
  type: z.literal('custom'),
  custom: z.looseObject({ name: functionName, input: z.string() }),
});
export const anyCall = z.discriminatedUnion('type', [toolCall, customCall]);

/** What a message says of calls: an answer makes them, and a turn of the role `tool` brings the result of one. */
export const messageOfTools = {
  tool_calls: z.array(anyCall).max(CALLS_MAX).nullish(),
  tool_call_id: z.string().min(1).max(200).nullish(),
  function_call: z.null(`function_call ${NO_FUNCTIONS}`).optional(),
};
