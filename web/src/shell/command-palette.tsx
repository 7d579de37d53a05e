import { Autocomplete } from '@base-ui/react/autocomplete';
import { Dialog } from '@base-ui/react/dialog';
import { Search } from 'lucide-react';
import { useState } from 'react';
import { cx } from '../lib/cx.ts';
import { backdropClass } from '../ui/dialog.tsx';
import { itemClass } from '../ui/popup-class.ts';
import type { CommandGroup } from './match-commands.ts';
import { type Command, useCommands } from './use-commands.ts';

/** Pages, actions, own datasets and models, and the starter models. */
export function CommandPalette({ onClose }: { onClose: () => void }) {
  const [typed, setTyped] = useState('');
  const { groups, searching } = useCommands(typed);
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
              // They are chosen already, by more than their labels.
              filter={null}
              value={typed}
              onValueChange={setTyped}
              autoHighlight="always"
              keepHighlight
            >
              <div className="flex items-center gap-3 border-line border-b px-4">
                <Search aria-hidden className="size-4 shrink-0 text-faint" />
                <Autocomplete.Input
                  aria-label="Search pages, actions, datasets and models"
                  placeholder="Search or jump to…"
                  className="h-12 w-full bg-transparent text-[0.9375rem] outline-none placeholder:text-faint"
                />
              </div>
              <div className="max-h-[min(60dvh,26rem)] overflow-y-auto overscroll-contain p-1.5">
                <Autocomplete.Empty className="px-3 py-8 text-center text-muted empty:hidden">
                  {searching ? 'Searching …' : 'Nothing matches'}
                </Autocomplete.Empty>
                <Autocomplete.List>
                  {(group: CommandGroup<Command>) => (
                    <Autocomplete.Group key={group.value} items={group.items}>
                      <Autocomplete.GroupLabel className="px-2.5 pt-2.5 pb-1 font-medium text-faint text-xs">
                        {group.value}
                      </Autocomplete.GroupLabel>
                      <Autocomplete.Collection>
                        {(command: Command) => (
                          <Autocomplete.Item
                            key={command.value}
                            value={command}
                            className={cx(itemClass, 'scroll-my-2')}
                            onClick={() => {
                              onClose();
                              command.run();
                            }}
                          >
                            <command.icon aria-hidden />
                            <span className="truncate">{command.label}</span>
                          </Autocomplete.Item>
                        )}
                      </Autocomplete.Collection>
                    </Autocomplete.Group>
                  )}
                </Autocomplete.List>
              </div>
              <Dialog.Close className="sr-only">Close</Dialog.Close>
            </Autocomplete.Root>
          </Dialog.Popup>
        </Dialog.Viewport>
      </Dialog.Portal>
    </Dialog.Root>
  );
}
