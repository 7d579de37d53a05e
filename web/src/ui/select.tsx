import { Field } from '@base-ui/react/field';
import { ChevronsUpDown } from 'lucide-react';
import { type KeyboardEvent, useEffect, useRef, useState } from 'react';
import { cx } from '../lib/cx.ts';
import { loadable } from '../lib/loadable.tsx';
import { preloadLater } from '../lib/when-idle.ts';
import { controlClass } from './field.tsx';
import { useOpenWhenLoaded } from './placement.ts';
import type { SelectProps } from './select-list.tsx';

const List = loadable(async () => (await import('./select-list.tsx')).SelectList);

/** Longest pause between two letters of one word, in milliseconds. */
const WORD_MS = 750;

/**
 * Single choice from a few options, with type-ahead and arrow keys. Renders only the button until opened,
 * because the list's code isn't part of the first screen.
 */
export function Select<Value extends string>({
  value,
  onChange,
  options,
  placeholder = 'Choose…',
  size = 'md',
  ...props
}: SelectProps<Value>) {
  const [opened, setOpened] = useState(false);
  const { open, waitingFor } = useOpenWhenLoaded();
  useEffect(() => preloadLater([List.preload]), []);
  const label = props['aria-label'];
  const className = controlClass(
    'flex items-center justify-between gap-2 text-left',
    size === 'sm' ? 'h-8 px-2.5 text-[0.8125rem]' : 'h-9 px-3',
    props.className,
  );
  if (opened) {
    // The list calls it only with values of the options.
    const choose = onChange as (value: string) => void;
    return <List {...{ value, options, placeholder, className, label }} onChange={choose} />;
  }
  // '' can be an option's value.
  const chosen = value === null ? null : (options.find((option) => option.value === value)?.label ?? value);
  return (
    <ClosedSelect
      chosen={chosen}
      isOpening={waitingFor !== null}
      onOpen={() => open(List, () => setOpened(true))}
      onType={(text) => {
        const next = findTyped(options, value, text);
        if (next !== undefined) onChange(next);
      }}
      {...{ placeholder, className, label }}
    />
  );
}

type ClosedProps = {
  chosen: string | null;
  placeholder: string;
  className: string;
  label: string | undefined;
  isOpening: boolean;
  onOpen: () => void;
  onType: (text: string) => void;
};

function ClosedSelect({ chosen, placeholder, className, label, isOpening, onOpen, onType }: ClosedProps) {
  const typed = useRef({ text: '', at: 0 });
  function press(event: KeyboardEvent) {
    if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
      event.preventDefault();
      onOpen();
    }
    if (!isLetter(event)) return;
    const { text, at } = typed.current;
    typed.current = {
      text: event.timeStamp - at < WORD_MS ? text + event.key : event.key,
      at: event.timeStamp,
    };
    onType(typed.current.text);
  }
  const fetchList = () => void List.preload();
  return (
    <Field.Control
      className={className}
      render={
        <button
          type="button"
          role="combobox"
          aria-haspopup="listbox"
          aria-expanded={false}
          aria-label={label}
          aria-busy={isOpening || undefined}
          onClick={onOpen}
          onKeyDown={press}
          onFocus={fetchList}
          onPointerEnter={fetchList}
        >
          <span className={cx('truncate', chosen === null && 'text-faint')}>{chosen ?? placeholder}</span>
          <span aria-hidden className="shrink-0 text-muted">
            <ChevronsUpDown className="size-3.5" />
          </span>
        </button>
      }
    />
  );
}

function isLetter({ key, ctrlKey, metaKey, altKey }: KeyboardEvent): boolean {
  return key.length === 1 && key !== ' ' && !ctrlKey && !metaKey && !altKey;
}

type Option<Value extends string> = { value: Value; label: string; disabled?: boolean };

/**
 * Finds the option for typed text as a native select does: the first option, starting at the current one,
 * whose label starts with the text. Repeating one letter cycles through the matches.
 */
export function findTyped<Value extends string>(
  options: readonly Option<Value>[],
  value: Value | null,
  typed: string,
): Value | undefined {
  const isOneLetter = new Set(typed.toLowerCase()).size === 1;
  const start = (isOneLetter ? typed.slice(0, 1) : typed).toLowerCase();
  // Several letters may still match the current option; a single letter moves past it.
  const from = options.findIndex((option) => option.value === value) + (isOneLetter ? 1 : 0);
  const at = Math.max(0, from);
  return [...options.slice(at), ...options.slice(0, at)].find(
    ({ label, disabled }) => !disabled && label.toLowerCase().startsWith(start),
  )?.value;
}
