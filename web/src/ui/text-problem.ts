import { tooLong } from '@bakehouse/contract/labels';

/** What is said of a text that is too long, in the server's words. A field that cut it off instead would lose its end unnoticed. */
export function lengthProblem(field: string, text: string, lengthMax: number): string | undefined {
  return text.trim().length > lengthMax ? tooLong(field, lengthMax) : undefined;
}

/** What is wrong with a text that must be there, in the server's words. */
export function requiredProblem(field: string, text: string, lengthMax: number): string | undefined {
  return text.trim() === '' ? `${field} is required` : lengthProblem(field, text, lengthMax);
}

/** What is wrong with a name, in the server's words. */
export function nameProblem(name: string, lengthMax: number): string | undefined {
  return requiredProblem('Name', name, lengthMax);
}
