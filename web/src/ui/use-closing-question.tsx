import { type ComponentProps, type ReactNode, useState } from 'react';
import { ConfirmDialog } from './confirm-dialog.tsx';

/** What is asked before something closes. */
export type ClosingQuestion = Pick<
  ComponentProps<typeof ConfirmDialog>,
  'title' | 'description' | 'action' | 'cancelLabel' | 'tone'
>;

const discard: ClosingQuestion = {
  title: 'Discard what you entered?',
  description: 'It has not been saved yet.',
  action: 'Discard',
  cancelLabel: 'Keep editing',
};

type Closing = {
  /** Closes at once, or asks first. */
  requestClose: () => void;
  question: ReactNode;
};

/** Asks before something with typed text closes: whether to discard it, or the question that is given. */
export function useClosingQuestion(dirty: boolean | ClosingQuestion, onClose: () => void): Closing {
  // What has been asked stays as it is, also when meanwhile there is nothing left to ask about.
  const [asked, setAsked] = useState({ ...discard, open: false });
  const setOpen = (open: boolean) => setAsked((before) => ({ ...before, open }));
  return {
    requestClose: () => (dirty ? setAsked({ ...(dirty === true ? discard : dirty), open: true }) : onClose()),
    question: (
      <ConfirmDialog
        {...asked}
        onOpenChange={setOpen}
        onConfirm={() => {
          setOpen(false);
          onClose();
        }}
      />
    ),
  };
}
