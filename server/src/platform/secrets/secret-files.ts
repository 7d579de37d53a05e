import { readFileSync } from 'node:fs';

/** Returns an error that lists the invalid settings for the operator. */
export function invalidSettings(faults: string[]): Error {
  return new Error(`Invalid settings:${faults.map((fault) => `\n  ${fault}`).join('')}`);
}

/** Returns the name of the setting with the path of a file that contains another setting's value. */
export function fileName(name: string): string {
  return `${name}_FILE`;
}

type SecretFile = { name: string; file: string };

/** Returns the settings whose values are in files. */
export function listSecretFiles(
  secretNames: string[],
  present: Record<string, string | undefined>,
): SecretFile[] {
  return secretNames.flatMap((name) => {
    const file = present[fileName(name)];
    return file === undefined ? [] : [{ name, file }];
  });
}

/** Reads the settings whose values are in files. Trims the final line break. */
export function readSecretFiles(
  present: Record<string, string | undefined>,
  files: SecretFile[],
): Record<string, string> {
  const entries = files.map(({ name, file }) => {
    if (present[name] !== undefined)
      throw invalidSettings([`${fileName(name)}: cannot be combined with ${name}`]);
    const text = readTextFile(name, file).replace(/\r?\n$/, '');
    if (text === '') throw invalidSettings([`${fileName(name)}: ${file} is empty`]);
    return [name, text] as const;
  });
  return Object.fromEntries(entries);
}

function readTextFile(name: string, file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw invalidSettings([
      `${fileName(name)}: cannot be read: ${error instanceof Error ? error.message : String(error)}`,
    ]);
  }
}
