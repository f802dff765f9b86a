import { useEffect, useRef, useState } from 'react'
import { number, t } from '../../text'
import { Icon } from '../../ui/icon'
import { Button } from '../../ui/parts'
import { kindOf } from './upload'

/** Staged is a file that will be sent. */
export interface Staged {
  file: File
  preview: string | undefined
}

/** useStaged are the files that will be sent with the next message: chosen, pasted, or dropped on the thread around a place. */
export function useStaged() {
  const [staged, setStaged] = useState<Staged[]>([])
  const place = useRef<HTMLFormElement>(null)
  const add = (files: Iterable<File>) => {
    const more = Array.from(files, (file) => ({ file, preview: kindOf(file.type) === 'image' ? URL.createObjectURL(file) : undefined }))
    setStaged((now) => [...now, ...more])
  }
  const remove = (some: Staged[]) => {
    for (const { preview } of some) if (preview) URL.revokeObjectURL(preview)
    setStaged((now) => now.filter((one) => !some.includes(one)))
  }
  const latest = useRef(staged)
  latest.current = staged
  useEffect(() => {
    const thread = place.current?.closest<HTMLElement>('.thread')
    const over = (event: DragEvent) => {
      if (event.dataTransfer?.types.includes('Files')) event.preventDefault()
    }
    const drop = (event: DragEvent) => {
      if (!event.dataTransfer?.files.length) return
      event.preventDefault()
      add(event.dataTransfer.files)
    }
    thread?.addEventListener('dragover', over)
    thread?.addEventListener('drop', drop)
    return () => {
      thread?.removeEventListener('dragover', over)
      thread?.removeEventListener('drop', drop)
      remove(latest.current)
    }
  }, [])
  return { staged, place, add, remove }
}

/** StagedFiles shows what will be sent, and takes files back. */
export function StagedFiles({ staged, remove }: { staged: Staged[]; remove: (some: Staged[]) => void }) {
  if (staged.length === 0) return null
  return (
    <ul className="staged" aria-label={t('inbox.staged')}>
      {staged.map((one, at) => (
        <li key={at}>
          {one.preview ? <img src={one.preview} alt="" /> : <Icon name="clip" size={24} />}
          <span className="clip grow" dir="auto">
            {one.file.name}
          </span>
          <span className="small mute">{number(Math.ceil(one.file.size / 1024), { style: 'unit', unit: 'kilobyte' })}</span>
          <Button tone="quiet" icon="close" label={t('inbox.unstage', { name: one.file.name })} onClick={() => remove([one])} />
        </li>
      ))}
    </ul>
  )
}
