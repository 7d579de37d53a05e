/** A number in a form that the server also validates, with its label, limits and default. */
export type NumberField = {
  label: string;
  min: number;
  max: number;
  /** Increment of the form's buttons. If it is 1, only whole numbers are accepted. */
  step: number;
  default: number;
  /** True if the number must be greater than `min`. */
  aboveMin?: boolean;
};

type Bounds = Pick<NumberField, 'min' | 'max' | 'step'>;

/** Returns the nearest valid number. */
export function clampNumber({ min, max, step }: Bounds, value: number): number {
  const bounded = Math.min(max, Math.max(min, value));
  return step === 1 ? Math.round(bounded) : bounded;
}

/** Returns the error messages of a number, for form and server. */
export function numberMessages({ label, min, max, aboveMin }: Omit<NumberField, 'default'>) {
  return {
    type: `${label} must be a number`,
    whole: `${label} must be a whole number`,
    min: `${label} must be ${aboveMin ? 'greater than' : 'at least'} ${min}`,
    max: `${label} must be at most ${max}`,
  };
}

/** Returns the error of a number, if there is one. A missing number counts as too small. */
export function numberProblem(field: NumberField, value: number): string | undefined {
  const messages = numberMessages(field);
  const fits = field.aboveMin ? value > field.min : value >= field.min;
  if (!fits) return messages.min;
  if (field.step === 1 && !Number.isInteger(value)) return messages.whole;
  return value > field.max ? messages.max : undefined;
}
