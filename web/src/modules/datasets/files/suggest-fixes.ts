/** Patterns of the readers' messages, with a fix for each. */
const knownFixes: readonly [RegExp, string][] = [
  [
    /fields? instead of \d+$/,
    'Put values that contain the separator in double quotes, and give each line as many fields as the first.',
  ],
  [/^there is text after a closing quote/, 'Write a double quote inside a quoted value twice: "".'],
  [
    /^a quote is opened and never closed/,
    'Close the quote, or write it twice ("") if it is part of the text.',
  ],
  [/^there is a carriage return/, 'Put the value in double quotes, or use the same line ending everywhere.'],
  [/^not JSON/, 'Write each row as one whole JSON object, on one line of its own in a jsonl file.'],
  [/^not an object/, 'Write each row as an object that names its columns: {"question": "…", "answer": "…"}.'],
  [/NUL character/, 'Remove the NUL characters, for example by saving the file again as text in UTF-8.'],
  [/surrogate pair/, 'Write the text again in UTF-8: a character, often an emoji, was cut in two.'],
];

/** Returns the known fixes for these problems, each once. */
export function suggestFixes(reasons: readonly string[]): string[] {
  return [
    ...new Set(reasons.flatMap((reason) => knownFixes.find(([fault]) => fault.test(reason))?.[1] ?? [])),
  ];
}
