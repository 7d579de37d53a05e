import { Field } from '@base-ui/react/field';
import { Minus, Plus } from 'lucide-react';
import { type KeyboardEvent, type ReactNode, useEffect, useEffectEvent, useRef, useState } from 'react';
import { controlClass } from './control-class.ts';
import { numberText, steppedNumber, typedNumber } from './number-text.ts';

type Props = {
  value: number | null;
  /** Null if the field is empty. */
  onChange: (value: number | null) => void;
  min?: number;
  max?: number;
  step?: number;
  disabled?: boolean;
  /** Maximum decimals, 6 by default. */
  maxDecimals?: number;
};

/** Delay before a held button repeats, and the repeat interval. */
const HOLD_MS = { first: 400, next: 60 };

/**
 * A number input with step buttons and arrow keys (Shift: ten steps). Stepping respects the bounds; typed
 * values may exceed them, and the form validates them. Base UI's NumberField is 20 times larger, too much for
 * the first screen.
 */
export function NumberField({
  value,
  onChange,
  min,
  max,
  step = 1,
  disabled = false,
  maxDecimals = 6,
}: Props) {
  // Text until blur: it may not be a valid number yet.
  const [typed, setTyped] = useState<string | null>(null);
  function set(next: number | null) {
    setTyped(null);
    if (next !== value) onChange(next);
  }
  const stepBy = (by: number) => set(steppedNumber(value, by, { min, max, maxDecimals }));
  function type(text: string) {
    if (/[^\d.,e+\s-]/i.test(text)) return;
    setTyped(text);
    // Report null for unreadable text, so that the form rejects it instead of submitting the previous number.
    const number = typedNumber(text, maxDecimals) ?? null;
    if (number !== value) onChange(number);
  }
  function press(event: KeyboardEvent) {
    const by = event.shiftKey ? step * 10 : step;
    if (event.key === 'ArrowUp') stepBy(by);
    else if (event.key === 'ArrowDown') stepBy(-by);
    else if (event.key === 'Home' && min !== undefined) set(min);
    else if (event.key === 'End' && max !== undefined) set(max);
    else return;
    event.preventDefault();
  }
  const isAt = (bound: number | undefined) => value !== null && value === bound;
  return (
    <div
      className={controlClass(
        'flex h-9 items-center overflow-hidden focus-within:border-focus focus-within:outline-2 focus-within:outline-focus/35',
        'has-[input:disabled]:bg-subtle has-[input:disabled]:text-muted has-[[aria-invalid=true]]:border-bad',
      )}
    >
      <Field.Control
        role="spinbutton"
        aria-valuenow={value ?? undefined}
        aria-valuemin={min}
        aria-valuemax={max}
        autoComplete="off"
        inputMode={min === undefined || min < 0 ? 'text' : 'decimal'}
        disabled={disabled}
        value={typed ?? numberText(value, maxDecimals)}
        onChange={(event) => type(event.target.value)}
        onKeyDown={press}
        onBlur={() => setTyped(null)}
        className="h-full min-w-0 flex-1 bg-transparent px-3 tabular-nums outline-none"
      />
      <StepButton label="Decrease" onStep={() => stepBy(-step)} disabled={disabled || isAt(min)}>
        <Minus aria-hidden />
      </StepButton>
      <StepButton label="Increase" onStep={() => stepBy(step)} disabled={disabled || isAt(max)}>
        <Plus aria-hidden />
      </StepButton>
    </div>
  );
}

type ButtonProps = { label: string; onStep: () => void; disabled: boolean; children: ReactNode };

/** Steps once per click and repeats while held. Keyboard users have the arrow keys. */
function StepButton({ label, onStep, disabled, children }: ButtonProps) {
  const [isHeld, setHeld] = useState(false);
  const hasGoneOn = useRef(false);
  const stepOn = useEffectEvent(() => {
    // Release at the bound: browsers may send a disabled button neither pointerup nor click.
    hasGoneOn.current = !disabled;
    if (disabled) setHeld(false);
    else onStep();
  });
  useEffect(() => {
    if (!isHeld) return;
    const release = () => setHeld(false);
    for (const type of RELEASES) addEventListener(type, release);
    let timer = setTimeout(function repeat() {
      stepOn();
      timer = setTimeout(repeat, HOLD_MS.next);
    }, HOLD_MS.first);
    return () => {
      clearTimeout(timer);
      for (const type of RELEASES) removeEventListener(type, release);
    };
  }, [isHeld]);
  return (
    <button
      type="button"
      tabIndex={-1}
      aria-label={label}
      disabled={disabled}
      onClick={() => {
        // Ignore the click that ends a long press.
        if (!hasGoneOn.current) onStep();
        hasGoneOn.current = false;
      }}
      onPointerDown={({ button }) => {
        hasGoneOn.current = false;
        setHeld(button === 0);
      }}
      className="flex h-full w-8 items-center justify-center text-muted hover:bg-hover hover:text-ink disabled:opacity-40 [&_svg]:size-3.5"
    >
      {children}
    </button>
  );
}

const RELEASES = ['pointerup', 'pointercancel', 'blur'] as const;
