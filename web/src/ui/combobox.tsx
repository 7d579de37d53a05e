import { Combobox as Base } from '@base-ui/react/combobox';
import { Check, ChevronsUpDown } from 'lucide-react';
import type { ReactNode } from 'react';
import { cx } from '../lib/cx.ts';
import { controlClass } from './control-class.ts';
import { itemClass, popupClass, popupLayer } from './popup-class.ts';

export type ComboboxOption = { value: string; label: string; description?: ReactNode };

type Props = {
  value: string | null;
  onChange: (value: string | null) => void;
  options: readonly ComboboxOption[];
  placeholder?: string;
  /** Shown when nothing matches. */
  emptyText?: string;
  disabled?: boolean;
  loading?: boolean;
  onType?: (text: string) => void;
  /** The options are search results for the typed text; don't filter them by label. */
  found?: boolean;
  /** Error message if loading the options failed. */
  failed?: string | undefined;
  /** Shown below the options. */
  note?: string | undefined;
  'aria-label'?: string;
};

/** Single choice from many options, filtered by typing. */
export function Combobox({
  value,
  onChange,
  options,
  placeholder,
  emptyText = 'Nothing matches',
  disabled,
  loading,
  onType,
  found = false,
  failed,
  note,
  ...rest
}: Props) {
  const selected = options.find((option) => option.value === value) ?? null;
  return (
    <Base.Root
      items={options}
      value={selected}
      onValueChange={(option: ComboboxOption | null) => onChange(option?.value ?? null)}
      // Selecting an option writes its label into the input; that isn't typing.
      onInputValueChange={(text, { reason }) => (reason === 'input-change' || text === '') && onType?.(text)}
      filter={found ? null : undefined}
      isItemEqualToValue={(one, other) => one?.value === other?.value}
      disabled={disabled}
    >
      <Base.InputGroup className="relative">
        <Base.Input
          aria-label={rest['aria-label']}
          placeholder={placeholder}
          className={controlClass('h-9 pr-9 pl-3 text-ellipsis')}
        />
        <Base.Trigger
          aria-label="Show the options"
          className="absolute inset-y-0 right-0 flex w-9 items-center justify-center text-muted"
        >
          <ChevronsUpDown aria-hidden className="size-3.5" />
        </Base.Trigger>
      </Base.InputGroup>
      <Base.Portal>
        <Base.Positioner className={popupLayer} sideOffset={4} align="start" collisionPadding={8}>
          <Base.Popup
            className={cx(
              popupClass,
              // The popup may be wider than a narrow field, to fit long option labels.
              'max-h-[min(20rem,var(--available-height))] min-w-(--anchor-width) max-w-[min(max(24rem,var(--anchor-width)),var(--available-width))] overflow-y-auto',
            )}
          >
            <Choices emptyText={loading ? 'Loading…' : failed ? null : emptyText} />
            {failed && (
              <p role="alert" className="px-2.5 py-1.5 text-compact text-bad">
                {failed}
              </p>
            )}
            {note && (
              <p className="sticky -bottom-1 -mx-1 -mb-1 border-line border-t bg-surface px-3.5 py-2 text-muted text-xs">
                {note}
              </p>
            )}
          </Base.Popup>
        </Base.Positioner>
      </Base.Portal>
    </Base.Root>
  );
}

/** The matching options, or the empty text. */
function Choices({ emptyText }: { emptyText: string | null }) {
  return (
    <>
      <Base.Empty className="px-2.5 py-2 text-muted empty:hidden">{emptyText}</Base.Empty>
      <Base.List>
        {(option: ComboboxOption) => (
          <Base.Item key={option.value} value={option} className={cx(itemClass, 'relative pr-8')}>
            <div className="min-w-0">
              <div className="line-clamp-2 [overflow-wrap:anywhere]">{option.label}</div>
              {option.description && <div className="truncate text-muted text-xs">{option.description}</div>}
            </div>
            <Base.ItemIndicator className="absolute right-2.5">
              <Check aria-hidden />
            </Base.ItemIndicator>
          </Base.Item>
        )}
      </Base.List>
    </>
  );
}
