import { tooLong } from '@bakehouse/contract/labels';

/**
 * Returns the server's error message if the text is too long. Fields don't use maxLength, which truncates
 * pasted text silently.
 */
export function lengthProblem(field: string, text: string, lengthMax: number): string | undefined {
  return text.trim().length > lengthMax ? tooLong(field, lengthMax) : undefined;
}

/** Returns the server's error message if a required text is empty or too long. */
export function requiredProblem(field: string, text: string, lengthMax: number): string | undefined {
  return text.trim() === '' ? `${field} is required` : lengthProblem(field, text, lengthMax);
}

/** Returns the server's error message for an invalid name. */
export function nameProblem(name: string, lengthMax: number): string | undefined {
  return requiredProblem('Name', name, lengthMax);
}
