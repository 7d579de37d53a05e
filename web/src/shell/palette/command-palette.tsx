import { Autocomplete } from '@base-ui/react/autocomplete';
import { Dialog } from '@base-ui/react/dialog';
import { Search } from 'lucide-react';
import { useState } from 'react';
import { flushSync } from 'react-dom';
import { cx } from '../../lib/cx.ts';
import { backdropClass } from '../../ui/dialog-class.ts';
import { errorMessage } from '../../ui/notify.ts';
import { itemClass } from '../../ui/popup-class.ts';
import type { Command, CommandGroup } from './match-commands.ts';
import { useCommands } from './use-commands.ts';

type Props = {
  /** The text typed in the search box. */
  begun: string;
  onClose: () => void;
};

/** Searches pages, actions and the user's data. */
export function CommandPalette({ begun, onClose }: Props) {
  const [typed, setTyped] = useState(begun);
  const { groups, searching, error } = useCommands(typed);
  const perform = (command: Command) => {
    flushSync(onClose);
    // Wait until the dialog has restored the focus, so that a sheet can later return it to the same element.
    queueMicrotask(command.run);
  };
  return (
    <Dialog.Root open onOpenChange={(open) => !open && onClose()}>
      <Dialog.Portal>
        <Dialog.Backdrop className={backdropClass} />
        <Dialog.Viewport className="fixed inset-0 z-40 flex items-start justify-center p-3 pt-[12dvh]">
          <Dialog.Popup
            aria-label="Search"
            className="flex w-full max-w-xl flex-col overflow-hidden rounded-2xl bg-surface shadow-pop outline-none transition-[opacity,translate] duration-100 data-starting-style:-translate-y-2 data-starting-style:opacity-0"
          >
            <Autocomplete.Root
              open
              inline
              items={groups}
              // Already filtered, by more than their labels.
              filter={null}
              value={typed}
              onValueChange={setTyped}
              autoHighlight="always"
              keepHighlight
            >
              <div className="flex items-center gap-3 border-line border-b px-4">
                <Search aria-hidden className="size-4 shrink-0 text-faint" />
                <Autocomplete.Input
                  aria-label="Search pages, actions, datasets, models, deployments, runs and pictures"
                  placeholder="Search or jump to…"
                  className="h-12 w-full bg-transparent text-lead outline-none placeholder:text-faint"
                />
              </div>
              <Results searching={searching} error={error} onClick={perform} />
              <Dialog.Close className="sr-only">Close</Dialog.Close>
            </Autocomplete.Root>
          </Dialog.Popup>
        </Dialog.Viewport>
      </Dialog.Portal>
    </Dialog.Root>
  );
}

type ResultsProps = { searching: boolean; error: Error | null; onClick: (command: Command) => void };

function Results({ searching, error, onClick }: ResultsProps) {
  return (
    <div className="max-h-[min(60dvh,26rem)] overflow-y-auto overscroll-contain p-1.5">
      <Autocomplete.Empty className="px-3 py-8 text-center text-muted empty:hidden">
        {searching ? 'Searching…' : error ? '' : 'Nothing matches'}
      </Autocomplete.Empty>
      <Autocomplete.List>
        {(group: CommandGroup<Command>) => (
          <Autocomplete.Group key={group.value} items={group.items}>
            <Autocomplete.GroupLabel className="px-2.5 pt-2.5 pb-1 font-medium text-faint text-xs">
              {group.value}
            </Autocomplete.GroupLabel>
            <Autocomplete.Collection>
              {(command: Command) => <CommandItem key={command.value} command={command} onClick={onClick} />}
            </Autocomplete.Collection>
          </Autocomplete.Group>
        )}
      </Autocomplete.List>
      {error && !searching && (
        <p role="alert" className="px-2.5 py-1.5 text-compact text-bad">
          The search failed: {errorMessage(error)}
        </p>
      )}
    </div>
  );
}

type ItemProps = { command: Command; onClick: (command: Command) => void };

function CommandItem({ command, onClick }: ItemProps) {
  return (
    <Autocomplete.Item
      value={command}
      className={cx(itemClass, 'scroll-my-2')}
      onClick={() => onClick(command)}
    >
      {command.picture ?? <command.icon aria-hidden />}
      <span dir="auto" className="min-w-0 flex-1 truncate">
        {command.label}
      </span>
      {command.note && <span className="max-w-1/2 truncate text-muted text-xs">{command.note}</span>}
    </Autocomplete.Item>
  );
}
