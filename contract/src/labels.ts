import { gpuLabels, gpuTypes } from './limits.ts';

/** Labels shared by server and web app. */

/** Returns the message for a text longer than `lengthMax` characters. */
export function tooLong(field: string, lengthMax: number): string {
  return `${field} must have at most ${lengthMax.toLocaleString('en')} characters`;
}

/** Returns a GPU's label; unlisted GPUs have the name of their driver. */
export function gpuLabel(type: string): string {
  const listed = gpuTypes.find((one) => one === type);
  return listed ? gpuLabels[listed] : type;
}

const units = ['Bytes', 'KB', 'MB', 'GB', 'TB'] as const;

/** 1536 -> '1.50 KB'. Powers of 1024, two decimals; whole bytes below 1 KB. */
export function formatBytes(bytes: number): string {
  let value = bytes;
  let unit = 0;
  while (value >= 1024 && unit < units.length - 1) {
    value /= 1024;
    unit += 1;
  }
  return `${unit === 0 ? value : value.toFixed(2)} ${units[unit]}`;
}
