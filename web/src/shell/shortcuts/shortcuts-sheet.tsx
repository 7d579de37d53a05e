import { COMMAND_KEY } from '../../lib/device/command-key.ts';
import { Sheet } from '../../ui/sheet.tsx';

const groups: { title: string; shortcuts: { keys: string[]; does: string }[] }[] = [
  {
    title: 'Everywhere',
    shortcuts: [
      { keys: ['/'], does: 'Search models and datasets' },
      { keys: [COMMAND_KEY, 'K'], does: 'Open the command palette' },
      { keys: ['?'], does: 'Show these shortcuts' },
      { keys: ['Esc'], does: 'Close the topmost panel' },
    ],
  },
  {
    title: 'In the search and the palette',
    shortcuts: [
      { keys: ['↑', '↓'], does: 'Move through the results' },
      { keys: ['Enter'], does: 'Open or run the selected result' },
    ],
  },
  {
    title: 'In a prompt',
    shortcuts: [{ keys: [COMMAND_KEY, 'Enter'], does: 'Generate' }],
  },
  {
    title: 'On a generation',
    shortcuts: [{ keys: ['←', '→'], does: 'Go to the previous or next generation' }],
  },
  {
    title: 'On a chart',
    shortcuts: [{ keys: ['←', '→'], does: 'Show the previous or next values' }],
  },
  {
    title: 'In a chat',
    shortcuts: [
      { keys: ['Enter'], does: 'Send the message' },
      { keys: ['Shift', 'Enter'], does: 'Start a new line' },
    ],
  },
];

/** Lists the keyboard shortcuts. */
export function ShortcutsSheet({ open, onClose }: { open: boolean; onClose: () => void }) {
  return (
    <Sheet open={open} onClose={onClose} title="Keyboard shortcuts">
      <div className="grid gap-7">
        {groups.map(({ title, shortcuts }) => (
          <section key={title}>
            <h3 className="mb-1.5 font-medium text-faint text-xs">{title}</h3>
            <dl className="divide-y divide-line">
              {shortcuts.map(({ keys, does }) => (
                <div key={does} className="flex items-center justify-between gap-4 py-2">
                  <dt className="order-last flex shrink-0 gap-1">
                    {keys.map((key) => (
                      <kbd
                        key={key}
                        className="rounded-md border border-line-strong bg-subtle px-1.5 py-0.5 font-sans text-xs"
                      >
                        {key}
                      </kbd>
                    ))}
                  </dt>
                  <dd>{does}</dd>
                </div>
              ))}
            </dl>
          </section>
        ))}
      </div>
    </Sheet>
  );
}
