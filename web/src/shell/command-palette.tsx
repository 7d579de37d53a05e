import { Autocomplete } from '@base-ui/react/autocomplete';
import { Dialog } from '@base-ui/react/dialog';
import { useInfiniteQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { Boxes, Database, type LucideIcon, Monitor, Moon, Plus, Search, Sun } from 'lucide-react';
import { useCreatePanel } from '../lib/create-panel.ts';
import { cx } from '../lib/cx.ts';
import { themeChoice } from '../lib/theme.ts';
import { useUser } from '../modules/accounts/api.ts';
import { assetListQuery } from '../modules/assets/api.ts';
import { backdropClass } from '../ui/dialog.tsx';
import { itemClass } from '../ui/popup-class.ts';
import { navGroups } from './nav-items.ts';

type Command = { value: string; label: string; icon: LucideIcon; run: () => void };
type Group = { value: string; items: Command[] };

/** Pages, actions and own datasets and models by name. */
export default function CommandPalette({ onClose }: { onClose: () => void }) {
  const groups = useCommands();
  return (
    <Dialog.Root open onOpenChange={(open) => !open && onClose()}>
      <Dialog.Portal>
        <Dialog.Backdrop className={backdropClass} />
        <Dialog.Viewport className="fixed inset-0 z-40 flex items-start justify-center p-3 pt-[12dvh]">
          <Dialog.Popup
            aria-label="Search"
            className="flex w-full max-w-xl flex-col overflow-hidden rounded-2xl bg-surface shadow-pop outline-none transition-[opacity,translate] duration-100 data-starting-style:-translate-y-2 data-starting-style:opacity-0"
          >
            <Autocomplete.Root open inline items={groups} autoHighlight="always" keepHighlight>
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
                  Nothing matches
                </Autocomplete.Empty>
                <Autocomplete.List>
                  {(group: Group) => (
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

function useCommands(): Group[] {
  const user = useUser();
  const navigate = useNavigate();
  const openPanel = useCreatePanel();
  const datasets = useInfiniteQuery(assetListQuery(user.id, { types: 'RAW' }));
  const models = useInfiniteQuery(assetListQuery(user.id, { types: 'MODEL' }));

  const groups: Group[] = [
    {
      value: 'Actions',
      items: [
        {
          value: 'create-dataset',
          label: 'Create Dataset',
          icon: Plus,
          run: () => openPanel({ create: 'dataset' }),
        },
        {
          value: 'create-model',
          label: 'Create Model',
          icon: Plus,
          run: () => openPanel({ create: 'model' }),
        },
        {
          value: 'theme-light',
          label: 'Use the light theme',
          icon: Sun,
          run: () => themeChoice.set('light'),
        },
        { value: 'theme-dark', label: 'Use the dark theme', icon: Moon, run: () => themeChoice.set('dark') },
        {
          value: 'theme-system',
          label: 'Use the system’s theme',
          icon: Monitor,
          run: () => themeChoice.set('system'),
        },
      ],
    },
    {
      value: 'Pages',
      items: navGroups(user.is_operator)
        .flatMap((group) => group.items)
        .map(({ label, to, icon }) => ({ value: to, label, icon, run: () => void navigate({ to }) })),
    },
    {
      value: 'My Datasets',
      items: (datasets.data?.pages ?? []).flatMap((page) =>
        page.datasets.map(({ dataset_id, title }) => ({
          value: dataset_id,
          label: title,
          icon: Database,
          run: () => void navigate({ to: '/dataset/$id/description', params: { id: dataset_id } }),
        })),
      ),
    },
    {
      value: 'My Models',
      items: (models.data?.pages ?? []).flatMap((page) =>
        page.datasets.map(({ dataset_id, title }) => ({
          value: dataset_id,
          label: title,
          icon: Boxes,
          run: () => void navigate({ to: '/model/$id/description', params: { id: dataset_id } }),
        })),
      ),
    },
  ];
  return groups.filter((group) => group.items.length > 0);
}
