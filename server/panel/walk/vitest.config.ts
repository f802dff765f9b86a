import { defineConfig } from 'vitest/config'

// One browser at a time: the tests share two cores with everything else.
export default defineConfig({
  test: { root: import.meta.dirname, include: ['*.walk.ts'], testTimeout: 60_000, hookTimeout: 60_000, fileParallelism: false },
})
