; The threads that parallel loops run on, besides the caller's. TVM's own runtime has a pool for each caller, which a
; forked process can neither use nor leave: at its end it waits for threads that it has not got. This one is the
; process's: a job is a function that is called once for each of `tasks` tasks, the first of them by the caller. While
; one caller's job is done, other callers do theirs alone.
;
; Functions for Python have the signature of TVM's packed functions: i32 (handle, arguments, their number, result).

%Any = type { i32, i32, i64 } ; a value of TVM's: its kind, of which 0 is nothing and 1 an integer, and what it is
%Group = type { ptr, i32 }    ; what a task is told of the others: nothing, and how many there are

@group = internal global %Group { ptr null, i32 1 }
@alone = internal constant %Group { ptr null, i32 1 }
@function = internal global ptr null
@data = internal global ptr null
@processor = internal global i32 -1           ; where the caller runs
@failed = internal global i32 0
@workers = internal global i32 0
@stopped = internal global i32 0
@busy = internal global i32 0, align 64       ; 1: somebody changes what is above, or waits for a job
@turn = internal global i32 0, align 64       ; it changes with each job
@unfinished = internal global i32 0, align 64 ; tasks of the job
@asleep = internal global i32 0, align 64     ; workers that have to be woken up
; Of the C library; zeros are one that nobody has. No system's are larger.
@mutex = internal global [16 x i64] zeroinitializer, align 64
@signal = internal global [16 x i64] zeroinitializer, align 64
@launch_name = private constant [27 x i8] c"__TVMBackendParallelLaunch\00"
@error_kind = private constant [13 x i8] c"RuntimeError\00"
@error_text = private constant [32 x i8] c"a task of a parallel loop fails\00"

declare i32 @sched_yield()
declare i32 @sched_getcpu()
declare i32 @sched_getaffinity(i32, i64, ptr)
declare i32 @sched_setaffinity(i32, i64, ptr)
declare i32 @pthread_mutex_lock(ptr)
declare i32 @pthread_mutex_unlock(ptr)
declare i32 @pthread_cond_wait(ptr, ptr)
declare i32 @pthread_cond_broadcast(ptr)
declare i32 @TVMFFIEnvModRegisterContextSymbol(ptr, ptr)
declare i32 @TVMFFIFunctionCall(ptr, ptr, i32, ptr)
declare void @TVMFFIErrorSetRaisedFromCStr(ptr, ptr)

; Modules that are loaded from now on start their parallel loops here.
define i32 @__tvm_ffi_install(ptr %handle, ptr %arguments, i32 %number, ptr %result) {
  %code = call i32 @TVMFFIEnvModRegisterContextSymbol(ptr @launch_name, ptr @launch)
  ret i32 %code
}

; A worker's life: it ends with `stop`. Takes how often it looks for a job before it sleeps.
define i32 @__tvm_ffi_work(ptr %handle, ptr %arguments, i32 %number, ptr %result) {
begin:
  %place = getelementptr i8, ptr %arguments, i64 8
  %patience = load i64, ptr %place
  call void @enter()
  %gone = load i32, ptr @stopped
  %late = icmp ne i32 %gone, 0
  br i1 %late, label %leave, label %join

leave: ; `stop` was called before this one began, and will not tell it
  store atomic i32 0, ptr @busy release, align 4
  br label %end

join:
  %before = load i32, ptr @workers
  %task = add i32 %before, 1
  store i32 %task, ptr @workers
  %first = load atomic i32, ptr @turn acquire, align 4
  store atomic i32 0, ptr @busy release, align 4
  br label %wait

wait:
  %last = phi i32 [ %first, %join ], [ %turn, %finished ]
  %turn = call i32 @next(i32 %last, i64 %patience)
  %stop = load i32, ptr @stopped
  %ends = icmp ne i32 %stop, 0
  br i1 %ends, label %end, label %run

run:
  call void @part()
  %function = load ptr, ptr @function
  %data = load ptr, ptr @data
  %code = call i32 %function(i32 %task, ptr @group, ptr %data)
  %bad = icmp ne i32 %code, 0
  br i1 %bad, label %fail, label %finished

fail:
  store atomic i32 1, ptr @failed monotonic, align 4
  br label %finished

finished:
  %left = atomicrmw sub ptr @unfinished, i32 1 release
  br label %wait

end:
  ret i32 0
}

; All workers end. Until others begin to work, callers do their jobs alone.
define i32 @__tvm_ffi_stop(ptr %handle, ptr %arguments, i32 %number, ptr %result) {
  call void @enter()
  store i32 0, ptr @workers
  store i32 1, ptr @stopped
  call void @tell()
  store atomic i32 0, ptr @busy release, align 4
  ret i32 0
}

; In a forked process there are no workers, and nobody holds or waits for anything.
define i32 @__tvm_ffi_forget(ptr %handle, ptr %arguments, i32 %number, ptr %result) {
  store i32 0, ptr @workers
  store i32 0, ptr @busy
  store i32 0, ptr @asleep
  store [16 x i64] zeroinitializer, ptr @mutex
  store [16 x i64] zeroinitializer, ptr @signal
  ret i32 0
}

; A job for Python: a packed function of a task's number and how many there are.
define i32 @__tvm_ffi_each(ptr %handle, ptr %arguments, i32 %number, ptr %result) {
  %place = getelementptr i8, ptr %arguments, i64 8
  %function = load ptr, ptr %place
  %code = call i32 @launch(ptr @call, ptr %function, i32 0)
  ret i32 %code
}

define internal i32 @call(i32 %task, ptr %group, ptr %function) {
  %arguments = alloca [2 x %Any], align 8
  %result = alloca %Any, align 8
  %place = getelementptr %Group, ptr %group, i32 0, i32 1
  %tasks = load i32, ptr %place
  %first = zext i32 %task to i64
  %second = zext i32 %tasks to i64
  %one = insertvalue %Any { i32 1, i32 0, i64 0 }, i64 %first, 2
  %other = insertvalue %Any { i32 1, i32 0, i64 0 }, i64 %second, 2
  store %Any %one, ptr %arguments
  %next = getelementptr %Any, ptr %arguments, i64 1
  store %Any %other, ptr %next
  store %Any zeroinitializer, ptr %result
  %code = call i32 @TVMFFIFunctionCall(ptr %function, ptr %arguments, i32 2, ptr %result)
  ret i32 %code
}

; What a parallel loop calls. The number of tasks that it asks for is 0: as many as there are threads.
define internal i32 @launch(ptr %function, ptr %data, i32 %number) {
begin:
  %taken = cmpxchg ptr @busy, i32 0, i32 1 acquire monotonic
  %free = extractvalue { i32, i1 } %taken, 1
  br i1 %free, label %entered, label %serial

serial:
  %only = call i32 %function(i32 0, ptr @alone, ptr %data)
  ret i32 %only

entered:
  %workers = load i32, ptr @workers
  %some = icmp ne i32 %workers, 0
  br i1 %some, label %parallel, label %leave

leave:
  store atomic i32 0, ptr @busy release, align 4
  br label %serial

parallel:
  %tasks = add i32 %workers, 1
  %count = getelementptr %Group, ptr @group, i32 0, i32 1
  store i32 %tasks, ptr %count
  store ptr %function, ptr @function
  store ptr %data, ptr @data
  store i32 0, ptr @failed
  %processor = call i32 @sched_getcpu()
  store i32 %processor, ptr @processor
  store atomic i32 %workers, ptr @unfinished monotonic, align 4
  call void @tell()
  %own = call i32 %function(i32 0, ptr @group, ptr %data)
  br label %check

check:
  %left = load atomic i32, ptr @unfinished acquire, align 4
  %done = icmp eq i32 %left, 0
  br i1 %done, label %result, label %yield

yield:
  %ignored = call i32 @sched_yield()
  br label %check

result:
  %failed = load atomic i32, ptr @failed monotonic, align 4
  store atomic i32 0, ptr @busy release, align 4
  %other = icmp ne i32 %failed, 0
  %well = icmp eq i32 %own, 0
  %bad = and i1 %other, %well
  br i1 %bad, label %raise, label %end

raise: ; what a worker has raised stays with its thread
  call void @TVMFFIErrorSetRaisedFromCStr(ptr @error_kind, ptr @error_text)
  ret i32 -1

end:
  ret i32 %own
}

; A worker that the system has woken up on the caller's processor would wait there for each job until the caller's own
; task is done, as neither is at work for long enough to be moved. It goes to another one, and may return.
define internal void @part() {
begin:
  %own = call i32 @sched_getcpu()
  %callers = load i32, ptr @processor
  %same = icmp eq i32 %own, %callers
  %known = icmp ult i32 %own, 1024
  %together = and i1 %same, %known
  br i1 %together, label %move, label %end

move:
  %allowed = alloca [16 x i64], align 8
  %others = alloca [16 x i64], align 8
  store [16 x i64] zeroinitializer, ptr %allowed
  %read = call i32 @sched_getaffinity(i32 0, i64 128, ptr %allowed)
  %copy = load [16 x i64], ptr %allowed
  store [16 x i64] %copy, ptr %others
  %word = lshr i32 %own, 6
  %place = getelementptr [16 x i64], ptr %others, i32 0, i32 %word
  %bit = and i32 %own, 63
  %wide = zext i32 %bit to i64
  %mask = shl i64 1, %wide
  %old = load i64, ptr %place
  %rest = xor i64 %old, %mask
  store i64 %rest, ptr %place
  %left = call i32 @sched_setaffinity(i32 0, i64 128, ptr %others) ; refused where there is no other one
  %back = call i32 @sched_setaffinity(i32 0, i64 128, ptr %allowed)
  br label %end

end:
  ret void
}

; Waits until nobody is busy, and is.
define internal void @enter() {
  br label %try

try:
  %taken = cmpxchg ptr @busy, i32 0, i32 1 acquire monotonic
  %free = extractvalue { i32, i1 } %taken, 1
  br i1 %free, label %end, label %yield

yield:
  %ignored = call i32 @sched_yield()
  br label %try

end:
  ret void
}

; A new turn, and those who sleep are woken up. Either this sees that a worker sleeps or that one sees the new turn.
define internal void @tell() {
  %old = atomicrmw add ptr @turn, i32 1 seq_cst
  %sleepers = load atomic i32, ptr @asleep seq_cst, align 4
  %some = icmp ne i32 %sleepers, 0
  br i1 %some, label %wake, label %end

wake:
  %locked = call i32 @pthread_mutex_lock(ptr @mutex)
  %told = call i32 @pthread_cond_broadcast(ptr @signal)
  %unlocked = call i32 @pthread_mutex_unlock(ptr @mutex)
  br label %end

end:
  ret void
}

; The turn after the last one, for which it waits: first without sleeping.
define internal i32 @next(i32 %last, i64 %patience) {
begin:
  br label %look

look:
  %looks = phi i64 [ 0, %begin ], [ %more, %yield ]
  %seen = load atomic i32, ptr @turn acquire, align 4
  %new = icmp ne i32 %seen, %last
  br i1 %new, label %ready, label %again

again:
  %more = add i64 %looks, 1
  %tired = icmp ugt i64 %more, %patience
  br i1 %tired, label %sleep, label %yield

yield:
  %ignored = call i32 @sched_yield()
  br label %look

ready:
  ret i32 %seen

sleep:
  %locked = call i32 @pthread_mutex_lock(ptr @mutex)
  %fewer = atomicrmw add ptr @asleep, i32 1 seq_cst
  br label %check

check:
  %turn = load atomic i32, ptr @turn seq_cst, align 4
  %changed = icmp ne i32 %turn, %last
  br i1 %changed, label %awake, label %doze

doze:
  %woken = call i32 @pthread_cond_wait(ptr @signal, ptr @mutex)
  br label %check

awake:
  %others = atomicrmw sub ptr @asleep, i32 1 seq_cst
  %unlocked = call i32 @pthread_mutex_unlock(ptr @mutex)
  ret i32 %turn
}
