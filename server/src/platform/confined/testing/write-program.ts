import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

const answerConfined = JSON.stringify(new URL('../answer-confined.ts', import.meta.url));

/** For tests: writes a program into `dir`. Its answer is what this function body returns for `input`. */
export async function writeProgram(dir: string, name: string, body: string): Promise<URL> {
  const file = path.join(dir, `${name}.mjs`);
  await writeFile(
    file,
    `import { answerConfined } from ${answerConfined};\nawait answerConfined(async (input) => {${body}});\n`,
  );
  return pathToFileURL(file);
}
