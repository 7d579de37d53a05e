import { addDocument } from '@bakehouse/contract/drafts';
import { useState } from 'react';
import { upload } from '../../../lib/api/upload.ts';
import { refetchQueries } from '../../../lib/mutation/refetch-queries.ts';
import { errorMessage } from '../../../ui/notify.ts';

/** Adds documents to a draft one by one. Returns the pending names, and why documents were rejected. */
export function useAddDocuments(id: string) {
  const [reading, setReading] = useState<string[]>([]);
  const [refused, setRefused] = useState<string[]>([]);
  const without = (one: string) => (all: string[]) => all.filter((other) => other !== one);
  async function add(files: File[]) {
    setRefused([]);
    setReading((names) => [...names, ...files.map(({ name }) => name)]);
    for (const file of files) {
      try {
        await upload(addDocument, { draft_id: id }, file);
      } catch (error) {
        const message = errorMessage(error);
        const sentence = message.includes(file.name) ? message : `${file.name}: ${message}`;
        setRefused((all) => [...without(sentence)(all), sentence]);
      }
      refetchQueries(['draft']);
      setReading(without(file.name));
    }
  }
  return { reading, refused, add, dismiss: (sentence: string) => setRefused(without(sentence)) };
}
