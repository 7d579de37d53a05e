import { type ComponentProps, useState } from 'react';
import { Playground } from '../playground.tsx';

/** For tests: a playground on a page whose address names the conversation, at first none. */
export function AddressedPlayground(props: Omit<ComponentProps<typeof Playground>, 'opened'>) {
  const [conversation, setConversation] = useState<string>();
  return <Playground {...props} opened={{ conversation, onOpen: setConversation }} />;
}
