import * as z from 'zod';

/** Functions that a model may call, as OpenAI has them; modules/chat/body bounds their schemas. */
export const TOOLS_MAX = 128;
const CALLS_MAX = 50;

const NO_FUNCTIONS = 'is OpenAI\'s older form. Send \'tools\', each as {"type": "function", "function": {…}}';
const older = (name: string) => z.array(z.unknown()).max(0, `${name} ${NO_FUNCTIONS}`).nullish();

export const functionName = z
  .string()
  .regex(/^[a-zA-Z0-9_-]{1,64}$/, 'must be 1 to 64 letters, digits, underscores and dashes');

const tool = z.looseObject({
  type: z.literal('function', "must be 'function': this server runs no tools of its own"),
  function: z.looseObject({
    name: functionName,
    description: z.string().nullish(),
    /** A JSON Schema of an object; left out, the function takes nothing. */
    parameters: z.record(z.string(), z.unknown()).nullish(),
    /** The arguments are bound by the schema, or it is refused. */
    strict: z.boolean().nullish(),
  }),
});

const namedTool = z.object({ type: z.literal('function'), function: z.object({ name: functionName }) });

/** What a chat says of the functions that the model may call. */
export const toolParameters = {
  tools: z.array(tool).max(TOOLS_MAX).nullish(),
  /** Left out: the model chooses where there are tools. */
  tool_choice: z.union([z.enum(['none', 'auto', 'required']), namedTool]).nullish(),
  /** False: one call at most. A call that is required is one, unless this is true. */
  parallel_tool_calls: z.boolean().nullish(),
  functions: older('functions'),
  function_call: z.enum(['none', 'auto'], `function_call ${NO_FUNCTIONS}`).nullish(),
};

/** A call that a model made, in an answer and in the conversation that goes on from it. */
export const toolCall = z.looseObject({
  id: z.string().min(1).max(200),
  type: z.literal('function'),
  function: z.looseObject({
    name: functionName,
    /** JSON, as the model wrote it. */
    arguments: z.string(),
  }),
});

/** What a message says of calls: an answer makes them, and a turn of the role `tool` brings the result of one. */
export const messageOfTools = {
  tool_calls: z.array(toolCall).max(CALLS_MAX).nullish(),
  tool_call_id: z.string().min(1).max(200).nullish(),
  function_call: z.null(`function_call ${NO_FUNCTIONS}`).optional(),
};
