import { useMutation } from '@tanstack/react-query'
import { useRef } from 'react'
import { Problem } from '../api/client'
import { t } from '../text'
import { toast } from './toast'
import { saved } from './typed'

/**
 * useAct runs something that changes the server. What is wrong with a field is
 * shown there (see Problem.at); anything else in a corner. It runs what was
 * drawn last: the library takes a new function only after the screen was
 * painted, and Enter may come before that.
 */
export function useAct<Input, Output>(run: (input: Input) => Promise<Output>, options?: { said?: string; then?: (output: Output, input: Input) => unknown; quiet?: boolean }) {
  const latest = useRef(run)
  latest.current = run
  const act = useMutation<Output, Error, Input>({
    mutationFn: (input) => latest.current(input),
    onSuccess: async (output, input) => {
      saved()
      if (options?.said) toast('ok', options.said)
      await options?.then?.(output, input)
    },
    onError: (error) => {
      if (options?.quiet || (error instanceof Problem && (error.errors.length > 0 || error.status === 401))) return
      toast('bad', error instanceof Problem && error.status === 0 ? t('offline') : error.message)
    },
  })
  const problem = act.error instanceof Problem ? act.error : undefined
  return { ...act, problem, wrong: (member: string) => problem?.at(member) }
}
