! SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
! The inverse Helmholtz operator as a kernel inside a program, and the same as
! plain loops.
program solver
  implicit none
  integer, parameter :: p = 11
  real(8) :: S(p,p), wide(2*p,p,p), v(p,p,p), expected(p,p,p)
  real(8), dimension(p,p,p) :: D, u

  call random_number(S)
  call random_number(D)
  call random_number(wide)
  u = wide(1::2,:,:)

  !$rhizome kernel helmholtz
  REAL(8) :: S(11,11)
  REAL(8), DIMENSION(11,11,11) :: D, u, v, t, r
  t = S # S # S # u . [[1 6] [3 7] [5 8]]
  r = D * t
  v = S # S # S # r . [[0 6] [2 7] [4 8]]
  !$rhizome end

  call loops(expected)
  if (maxval(abs(v - expected)) > 1d-12 * maxval(abs(expected))) then
    print '(a)', 'the kernel differs from the loops'
    error stop 1
  end if

  ! The same on a strided slice.
  block
    use helmholtz_kernel, only: kernel => helmholtz
    v = 0
    call kernel(S, D, wide(1::2,:,:), v)
  end block
  if (maxval(abs(v - expected)) > 1d-12 * maxval(abs(expected))) then
    print '(a)', 'the kernel differs on a slice'
    error stop 1
  end if
  print '(a)', 'the kernel and the loops agree'

contains

  subroutine loops(v)
    real(8), intent(out) :: v(p,p,p)
    real(8) :: a(p,p,p), b(p,p,p)
    integer :: i
    ! Along each dimension in turn.
    do i = 1, p
      a(:,:,i) = matmul(S, u(:,:,i))
    end do
    do i = 1, p
      b(:,:,i) = matmul(a(:,:,i), transpose(S))
    end do
    do i = 1, p
      a(i,:,:) = matmul(b(i,:,:), transpose(S))
    end do
    a = D * a
    do i = 1, p
      b(:,:,i) = matmul(transpose(S), a(:,:,i))
    end do
    do i = 1, p
      a(:,:,i) = matmul(b(:,:,i), S)
    end do
    do i = 1, p
      v(i,:,:) = matmul(a(i,:,:), S)
    end do
  end subroutine
end program
