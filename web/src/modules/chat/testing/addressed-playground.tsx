import { type ComponentProps, useState } from 'react';
import { Playground } from '../playground.tsx';

/** For tests: a playground whose URL names the conversation; initially none. */
export function AddressedPlayground(props: Omit<ComponentProps<typeof Playground>, 'opened'>) {
  const [conversation, setConversation] = useState<string>();
  return <Playground {...props} opened={{ conversation, onOpen: setConversation }} />;
}
