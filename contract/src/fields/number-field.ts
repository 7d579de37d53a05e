/** A number that a form asks for and the server checks: its name for people, its bounds, and what it begins with. */
export type NumberField = {
  label: string;
  min: number;
  max: number;
  /** What the form's buttons add. A step of 1 takes whole numbers only. */
  step: number;
  default: number;
  /** `min` itself is too small. */
  aboveMin?: boolean;
};

type Bounds = Pick<NumberField, 'min' | 'max' | 'step'>;

/** The nearest number that fits. */
export function clampNumber({ min, max, step }: Bounds, value: number): number {
  const bounded = Math.min(max, Math.max(min, value));
  return step === 1 ? Math.round(bounded) : bounded;
}

/** What is said of a number that does not fit, on both sides. */
export function numberMessages({ label, min, max, aboveMin }: Omit<NumberField, 'default'>) {
  return {
    type: `${label} must be a number`,
    whole: `${label} must be a whole number`,
    min: `${label} must be ${aboveMin ? 'greater than' : 'at least'} ${min}`,
    max: `${label} must be at most ${max}`,
  };
}

/** What is wrong with the number, if anything; one that is not there is too small. */
export function numberProblem(field: NumberField, value: number): string | undefined {
  const messages = numberMessages(field);
  const fits = field.aboveMin ? value > field.min : value >= field.min;
  if (!fits) return messages.min;
  if (field.step === 1 && !Number.isInteger(value)) return messages.whole;
  return value > field.max ? messages.max : undefined;
}
